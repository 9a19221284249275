const RULES: ReadonlyMap<string, string> = new Map([
  ['exhausted', 'a delivery was given up'],
  ['window', 'all deliveries failed for too long'],
]);

/** Why a rule switched a subscription off, for people; a rule that this version does not know by its name. */
export const ruleInWords = (rule: string): string => RULES.get(rule) ?? `rule: ${rule}`;
