/** The settings of the page, which the listener serves before sign-in, and the name and colour that it has by them. */
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

/** Gives the page the name and the colour of the settings, before anything is shown. */
export function applyBrand({ name, accent }: PageSettings): void {
  if (name !== undefined) brandName = name;
  document.title = brandName;
  // The content security policy forbids inline styles, but lets a script set one.
  if (accent !== undefined)
    document.documentElement.style.setProperty('--accent', `light-dark(${accent.light}, ${accent.dark})`);
}

/** The title of the window while it shows that. */
export const titled = (what: string): string => `${what} – ${brandName}`;
