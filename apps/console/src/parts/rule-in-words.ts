const RULES: Readonly<Record<string, string>> = {
  exhausted: 'a delivery was given up',
  window: 'all attempts failed for too long',
};

/** For people, why a rule switched a subscription off. */
export const ruleInWords = (rule: string): string => RULES[rule] ?? rule;
