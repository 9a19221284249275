/** Red, green and blue, each from 0 to 255. */
type Colour = readonly [number, number, number];

/** Backgrounds and foregrounds of the accent in the page's light and dark schemes, as in its base.css. */
export const GROUNDS = {
  light: ['#f6f7f9', '#ffffff', '#eef1f5'],
  dark: ['#0f1318', '#171d24', '#202833'],
} as const;

const LEAST_CONTRAST = 4.5;
/** Opacity of the accent on tinted surfaces. */
const TINT = 0.12;
const STEP = 0.02;
const [BLACK, WHITE]: [Colour, Colour] = [
  [0, 0, 0],
  [255, 255, 255],
];

/**
 * A colour such as #0b6e4f, made darker for the light scheme and lighter for the dark one as far as text in it needs to be read: a
 * contrast of 4.5 (WCAG 2.2, AA) to each ground.
 */
export function readableAccent(hex: string): { light: string; dark: string } {
  const accent = parse(hex);
  return { light: readable(accent, GROUNDS.light, BLACK), dark: readable(accent, GROUNDS.dark, WHITE) };
}

function readable(accent: Colour, grounds: readonly string[], towards: Colour): string {
  for (let share = 0; share < 1; share += STEP) {
    const candidate = write(mix(accent, towards, share));
    if (isReadable(candidate, grounds)) return candidate;
  }
  return write(towards);
}

const isReadable = (hex: string, grounds: readonly string[]): boolean =>
  grounds.every((ground) => {
    const tinted = mix(parse(ground), parse(hex), TINT);
    return [ground, write(tinted)].every((each) => contrast(hex, each) >= LEAST_CONTRAST);
  });

/** The contrast of two colours, from 1 to 21 (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(parse(one)), luminance(parse(other))].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const mix = ([red, green, blue]: Colour, [r, g, b]: Colour, share: number): Colour => [
  red + (r - red) * share,
  green + (g - green) * share,
  blue + (b - blue) * share,
];

function parse(hex: string): Colour {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

const write = (colour: Colour): string =>
  `#${colour.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;
