import { useEffect, useState } from 'react';

/** The current time in milliseconds, renewed every second while it `matters`. */
export function useNow(matters: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!matters) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [matters]);
  return now;
}
