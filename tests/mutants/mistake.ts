/** A small mistake that somebody could have made: other text between two places of a source. */
export type Mistake = { kind: MistakeKind; from: number; to: number; text: string };

export const MISTAKE_KINDS = [
  'exchanged',
  'left out',
  'bound',
  'unit',
  'await',
  'negation',
  'order',
  'neighbor',
  'logic',
  'fallback',
  'by one',
  'condition',
] as const;
export type MistakeKind = (typeof MISTAKE_KINDS)[number];
