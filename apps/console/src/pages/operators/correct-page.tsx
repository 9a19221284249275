import { Page } from '../../parts/page.tsx';

export function CorrectPage() {
  return <Page title="Correct">…</Page>;
}
