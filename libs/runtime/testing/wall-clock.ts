/** What time it is, for what a test has to date: a token, a certificate, a row. Never to measure. */
export const wallClockMs = (): number => Date.now();
