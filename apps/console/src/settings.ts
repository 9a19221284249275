/** Settings that the listener serves before sign-in. */
export type PageSettings = {
  view: 'client' | 'operator';
  signIn?: { issuer: string; clientId: string; scope: string; audience: string };
  dashboardUrl?: string;
  /** Name shown by the page; defaults to Waybell. */
  name?: string;
  /** CSS colours for either scheme. */
  accent?: { light: string; dark: string };
};

export async function readSettings(): Promise<PageSettings> {
  const response = await fetch('settings.json');
  if (!response.ok) throw new Error(`settings.json: ${response.status}`);
  return (await response.json()) as PageSettings;
}

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
