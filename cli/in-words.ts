export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

export function sizeOf(bytes: number): string {
  if (bytes < 2 ** 10) return `${bytes} bytes`;
  return bytes < 2 ** 20 ? `${(bytes / 2 ** 10).toFixed(1)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

const RULES: ReadonlyMap<string, string> = new Map([
  ['exhausted', 'a delivery was given up'],
  ['window', 'all deliveries failed for too long'],
]);

/** Why a rule switched a subscription off, for people; a rule that this version does not know by its name. */
export const ruleInWords = (rule: string): string => RULES.get(rule) ?? `rule: ${rule}`;
