import { Page } from '../../parts/page.tsx';

export function SwitchedOffPage() {
  return <Page title="SwitchedOff">…</Page>;
}
