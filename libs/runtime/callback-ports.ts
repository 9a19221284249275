const LAST_PORT = 65_535;

/** Ports of servers that are no web servers and might misunderstand a request. */
export const DENIED_PORTS = [
  // The Fetch standard blocks these, which include mail, name, file, directory and remote login services.
  '1,7,9,11,13,15,17,19-23,25,37,42,43,53,69,77,79,87,95,101-104,109-111,113,115,117,119,123,135,137,139,143,161,179',
  '389,427,465,512-515,526,530-532,540,548,554,556,563,587,601,636,989,990,993,995,1719,1720,1723,2049,3659,4045,4190',
  '5060,5061,6000,6566,6665-6669,6679,6697,10080',
  // Further ones of remote login, names, databases and messages.
  '3389,5900',
  '2181,2379,2380,4369',
  '1433,1521,3306,5432,6379,9042,11211,27017-27019',
  '1883,5671,5672,9092,25672',
].flatMap((row) => row.split(','));

/** Reads ports and ranges of ports. Throws, naming the entry, if one is neither. */
export function readPorts(entries: readonly string[]): ReadonlySet<number> {
  return new Set(entries.flatMap(readRange));
}

/** Whether callbacks must not be sent to the port of this address, or to its scheme's default if it names none. */
export function isForbiddenPort(
  { protocol, port }: { protocol: string; port: string | null },
  denied: ReadonlySet<number>,
): boolean {
  const number = Number(port || (protocol === 'https:' ? 443 : 80));
  return number === 0 || denied.has(number);
}

function readRange(entry: string): number[] {
  const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(entry) ?? [];
  const length = Number(last) - Number(first) + 1;
  if (first === '' || length < 1 || Number(last) > LAST_PORT) {
    throw new Error(`"${entry}" is neither a port nor a range of ports: write it as 6379 or 1-79`);
  }
  return Array.from({ length }, (_, index) => Number(first) + index);
}
