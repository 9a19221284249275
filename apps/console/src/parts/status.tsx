/** A colour means one thing: arrived, to be retried, needs a person, anything else. */
type Tone = 'good' | 'retry' | 'bad' | 'neutral';

type StatusLook = { tone: Tone; mark: string };

const looks = (tone: Tone, mark: string, ...names: string[]): [string, StatusLook][] =>
  names.map((name) => [name, { tone, mark }]);

const LOOKS: ReadonlyMap<string, StatusLook> = new Map([
  ...looks('good', '✓', 'delivered', 'active', 'valid', 'done', 'created', 'changed', 'ready', 'running'),
  ...looks('retry', '↻', 'failed', 'retrying'),
  ...looks(
    'bad',
    '✕',
    'exhausted',
    'dropped',
    'rejected',
    'refused',
    'switched off',
    'shut',
    'not known',
    'not running',
  ),
  ...looks('bad', '■', 'stopped'),
  ...looks('neutral', '…', 'waiting', 'begun', 'open'),
  ...looks('neutral', '‖', 'paused', 'suspended'),
]);

const OTHER: StatusLook = { tone: 'neutral', mark: '–' };

/** The words for people, where they are others than the interface's. */
const WORDS: Readonly<Record<string, string>> = { exhausted: 'given up', suppressed: 'not sent' };

/** The word for people of a status or an outcome, such as `given up` for `exhausted`. */
export const statusWord = (of: string): string => WORDS[of] ?? of;

/** A status as a word, a colour and a mark: none of them alone. */
export function Status({ of }: { of: string }) {
  const { tone, mark } = LOOKS.get(of) ?? OTHER;
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{mark}</span> {statusWord(of)}
    </span>
  );
}
