import { Page } from '../../parts/page.tsx';

export function MissedPage() {
  return <Page title="Missed">…</Page>;
}
