import { useEffect, useState } from 'react';

/** The time, once a second, for as long as it `matters`. */
export function useNow(matters: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!matters) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [matters]);
  return now;
}
