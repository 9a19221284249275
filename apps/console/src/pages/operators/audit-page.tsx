import { Page } from '../../parts/page.tsx';

export function AuditPage() {
  return <Page title="Audit">…</Page>;
}
