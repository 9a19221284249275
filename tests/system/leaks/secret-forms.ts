/** Something that must not be seen, and what it is called in findings. */
export type Secret = { name: string; bytes: Buffer };

/** A secret that was seen: how it was written there, and what stands around it. */
export type Found = { secret: string; encoding: Encoding; around: string };

export type Encoding = 'plain' | 'base64' | 'percent' | 'hex' | 'decimal';

const ENCODINGS = ['plain', 'base64', 'percent', 'hex', 'decimal'] as const;
const AROUND = 60;

/** Every way in which bytes could be written into a text, alone or in the middle of something else. */
export function formsOf(bytes: Buffer): Record<Encoding, string[]> {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0'));
  const percent = hex.map((pair) => `%${pair}`).join('');
  const base64 = [0, 1, 2].map((offset) => base64Behind(bytes, offset));
  return {
    plain: [bytes.toString('latin1')],
    base64: base64.flatMap((text) => [text, text.replaceAll('-', '+').replaceAll('_', '/')]),
    percent: [encodeURIComponent(bytes.toString('latin1')), percent, percent.toUpperCase()].filter((text) =>
      text.includes('%'),
    ),
    // As one word, and in the form in which Node shows a Buffer.
    hex: [hex.join(''), hex.join('').toUpperCase(), hex.join(' ')],
    // The form of JSON.stringify for a Buffer, with and without indentation.
    decimal: [bytes.join(','), bytes.join(', ')],
  };
}

/** The characters that these bytes alone make where `offset` others stand before them. */
function base64Behind(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64url');
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

export function findSecrets(text: string, secrets: readonly Secret[]): Found[] {
  return secrets.flatMap(({ name, bytes }) => {
    const forms = formsOf(bytes);
    return ENCODINGS.flatMap((encoding) => {
      const form = forms[encoding].find((each) => text.includes(each));
      if (form === undefined) return [];
      const at = text.indexOf(form);
      return [{ secret: name, encoding, around: text.slice(Math.max(0, at - AROUND), at + form.length + AROUND) }];
    });
  });
}
