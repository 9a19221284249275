import { Page } from '../../parts/page.tsx';

export function RejectedPage() {
  return <Page title="Rejected">…</Page>;
}
