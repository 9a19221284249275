/** Returns the time to date a token, a certificate or a row with. Never measure with it. */
export const wallClockMs = (): number => Date.now();
