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
