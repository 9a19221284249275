const CONFIDENTIAL = /cookie|location|auth|token|secret|key|session|password|credential/i;

/**
 * Masks headers that may be secrets of the receiver, in the beginning of an invalid response. Of a valid one no header is
 * kept.
 */
export function maskedHead(text: string): string {
  let [isHidden, isOver] = [false, false];
  const shown = text.split('\n').map((line) => {
    isOver ||= line === '' || line === '\r';
    if (isOver) return line;
    // A line that begins with a blank continues the one before.
    const colon = /^[ \t]/.test(line) ? 0 : line.indexOf(':') + 1;
    if (!/^[ \t]/.test(line)) isHidden = CONFIDENTIAL.test(line.slice(0, colon));
    return isHidden ? `${line.slice(0, colon)} ***${line.endsWith('\r') ? '\r' : ''}` : line;
  });
  return shown.join('\n');
}
