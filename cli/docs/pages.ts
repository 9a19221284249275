import { contractPages } from './contract-pages.ts';
import { settingsPage } from './settings-page.ts';

/** Pages that are made from the code, by their path in the repository. `./waybell docs` writes them. */
export const pages: Record<string, () => string> = {
  'docs/settings.md': settingsPage,
  ...contractPages(),
};
