// Controls, what turns the direction of writing or cannot be seen, separators of lines and paragraphs, halves of pairs.
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Text from outside as part of a line: it cannot end the line, steer the terminal or hide. A line of JSON stays JSON. */
export function oneLine(text: string): string {
  return text.replaceAll(UNSHOWN, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

/** The same for a text that has lines and tabs of its own. */
export function plainText(text: string): string {
  return text.split('\n').map(ofLine).join('\n');
}

/** Writes a command's answer to stdout, each line for itself. */
export function print(...lines: string[]): void {
  for (const line of lines) console.log(oneLine(line));
}

const ofLine = (line: string): string => line.split('\t').map(oneLine).join('\t');

/** Says something to the user of the command, on stderr: stdout is for the command's answer alone. */
export function report(line: string): void {
  process.stderr.write(`waybell: ${plainText(line)}\n`);
}
