import { Page } from '../../parts/page.tsx';

export function SubscriptionsPage() {
  return <Page title="Subscriptions">…</Page>;
}
