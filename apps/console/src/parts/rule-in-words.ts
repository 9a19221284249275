const RULES: Readonly<Record<string, string>> = {
  exhausted: 'a delivery was given up',
  window: 'all attempts failed for too long',
};

/** Why a rule, whose numbers are settings, switched a subscription off; a rule that this page does not know by its name. */
export const ruleInWords = (rule: string): string => RULES[rule] ?? rule;
