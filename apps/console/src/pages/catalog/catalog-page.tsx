import { Page } from '../../parts/page.tsx';

export function CatalogPage() {
  return <Page title="Catalog">…</Page>;
}
