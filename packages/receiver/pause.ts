/** Waits, unless it is ended before, and keeps no process alive. In any runtime: not all have timers as Node has them. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    (timer as { unref?: () => unknown }).unref?.();
    signal.addEventListener('abort', end);
  });
}

/** Somewhat more or less, so that replicas that start together do not ask together. */
export function jittered(ms: number): number {
  return ms * (0.9 + Math.random() * 0.2);
}
