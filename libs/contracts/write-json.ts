const WIDTH = 120;

/** JSON for people: objects over lines, an array of plain values on one line where it fits; ends with a newline. */
export function writeJson(value: unknown): string {
  return `${write(value, '', 0)}\n`;
}

/** `used` is how much of the line is taken around the value. */
function write(value: unknown, indent: string, used: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const flat = flatArray(value);
    if (flat !== null && used + flat.length <= WIDTH) return flat;
    const lines = value.map((each) => `${inner}${write(each, inner, inner.length + 1)}`);
    return `[\n${lines.join(',\n')}\n${indent}]`;
  }
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  if (entries.length === 0) return '{}';
  const lines = entries.map(([name, each]) => {
    const head = `${inner}${JSON.stringify(name)}: `;
    return `${head}${write(each, inner, head.length + 1)}`;
  });
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

/** Null where it holds an object, which always takes lines of its own. */
function flatArray(values: readonly unknown[]): string | null {
  const hasObject = values.some((value) => typeof value === 'object' && value !== null);
  return hasObject ? null : `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
}
