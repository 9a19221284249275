import { Page } from '../../parts/page.tsx';

export function ClientOverview() {
  return <Page title="Overview">…</Page>;
}
