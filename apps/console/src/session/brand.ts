import type { PageSettings } from '../api/settings.ts';

/** Name shown by the page. */
export let brandName = 'Waybell';

/** Goes by the name and in the colour of the settings, before anything is shown. */
export function applyBrand({ name, accent }: PageSettings): void {
  if (name !== undefined) brandName = name;
  document.title = brandName;
  // The policy of the page forbids inline styles, and lets its own program set one.
  if (accent !== undefined)
    document.documentElement.style.setProperty('--accent', `light-dark(${accent.light}, ${accent.dark})`);
}

/** The title of the window, for what it shows. */
export const titled = (what: string): string => `${what} – ${brandName}`;
