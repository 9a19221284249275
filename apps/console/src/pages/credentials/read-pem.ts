/** Limit of each file that is read: a chain is shorter. */
const MOST_BYTES = 100_000;

/** Certificates and keys that stand in files, in their order; empty where there are none. */
export async function readPem(files: readonly Blob[]): Promise<{ chain: string; key: string }> {
  const texts = await Promise.all(files.map((file) => file.slice(0, MOST_BYTES).text()));
  const blocks = texts.flatMap((text) => [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g)]);
  const all = (isWanted: (label: string) => boolean) =>
    blocks.flatMap(([block, label = '']) => (isWanted(label) ? [`${block}\n`] : [])).join('');
  return { chain: all((label) => label === 'CERTIFICATE'), key: all((label) => label.endsWith('PRIVATE KEY')) };
}
