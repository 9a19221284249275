import { readFileSync } from 'node:fs';

/** Linux has no other, whatever the machine. */
const TICKS_PER_SECOND = 100;

/** Seconds of CPU of this process, and of processes that it has started and that are over. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childSeconds();
}

/** Seconds of CPU of processes that this one has started, and that are over; 0 where that cannot be read. */
export function childSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The command's name, in parentheses, may hold anything.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15);
    return (Number(user) + Number(system)) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
