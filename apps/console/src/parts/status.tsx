type Tone = 'good' | 'bad' | 'waiting' | 'quiet';

const TONES: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  active: 'good',
  valid: 'good',
  done: 'good',
  created: 'good',
  changed: 'good',
  failed: 'waiting',
  retrying: 'waiting',
  waiting: 'waiting',
  suspended: 'waiting',
  paused: 'waiting',
  begun: 'waiting',
  open: 'waiting',
  exhausted: 'bad',
  dropped: 'bad',
  rejected: 'bad',
  refused: 'bad',
  stopped: 'bad',
  'switched off': 'bad',
  revoked: 'quiet',
  shut: 'bad',
  'not known': 'bad',
  suppressed: 'quiet',
  ended: 'quiet',
};

const MARKS: Readonly<Record<Tone, string>> = { good: '✓', bad: '✕', waiting: '↻', quiet: '–' };

/** How something stands, in a word, a colour and a mark: none of them alone. */
export function Status({ of }: { of: string }) {
  const tone = TONES[of] ?? 'quiet';
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{MARKS[tone]}</span> {of}
    </span>
  );
}
