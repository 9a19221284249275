import { chartFiles } from './chart/chart-files.ts';
import { contractPages } from './contract-pages.ts';
import { failureReasonsPage } from './failure-reasons-page.ts';
import { firewallsPage } from './firewalls-page.ts';
import { languagePages } from './language-pages.ts';
import { metricsPage } from './metrics-page.ts';
import { settingsPage } from './settings-page.ts';

/** Pages that are made from the code, by their path in the repository. `./waybell docs` writes them. */
export const pages: Record<string, () => string | Promise<string>> = {
  'docs/failure-reasons.md': failureReasonsPage,
  'docs/settings.md': settingsPage,
  'docs/operating/metrics.md': metricsPage,
  'docs/firewalls.md': firewallsPage,
  ...languagePages,
  ...contractPages(),
  ...chartFiles(),
};
