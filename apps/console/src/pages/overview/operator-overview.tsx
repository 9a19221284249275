import { Page } from '../../parts/page.tsx';

export function OperatorOverview() {
  return <Page title="Overview">…</Page>;
}
