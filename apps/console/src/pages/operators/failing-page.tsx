import { Page } from '../../parts/page.tsx';

export function FailingPage() {
  return <Page title="Failing">…</Page>;
}
