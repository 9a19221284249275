/** The three servers of a stack, and the variables that name one that runs already. */
export const SERVERS = { rabbitmq: 'AMQP_URL', postgres: 'DATABASE_URL', redis: 'REDIS_URL' } as const;

export type ServerName = keyof typeof SERVERS;

// The keys of SERVERS are exactly the names.
export const SERVER_NAMES = Object.keys(SERVERS) as ServerName[];

/** The source of a server. A lent one was made for this stack by the test run that runs the server. */
export type ServerSource =
  | { from: 'address' | 'lent'; url: string }
  | { from: 'binary'; path: string }
  | { from: 'engine' };

/** The servers that this machine offers. Asked in this order, and only as far as needed: the later ones are slow. */
export type Machine = {
  findBinary(name: ServerName): string | undefined;
  /** Returns why containers cannot run here; undefined if they can, empty if no engine is installed. */
  engineTrouble(): string | undefined;
  /** Installs the packages of these servers; false where it may not or cannot. */
  install(names: ServerName[]): Promise<boolean>;
};

/** Whether the server is not this stack's to start and stop. */
export const isExternal = (source: ServerSource | undefined): source is ServerSource & { url: string } =>
  source?.from === 'address' || source?.from === 'lent';

export type Sources = Partial<Record<ServerName, ServerSource>>;

/** No way to get a server. The message names the ways. */
export class NoServer extends Error {
  constructor(names: ServerName[], engineTrouble: string) {
    const variables = names.map((name) => SERVERS[name]).join(', ');
    super(
      [
        `found no ${names.join(', no ')} on this machine. Do one of these, then try again:`,
        `  - name servers that run already: ${variables}`,
        `  - install them: ${names.join(', ')} (on Debian or Ubuntu as root this happens by itself)`,
        `  - have a Docker engine run: they then run in containers${engineTrouble && ` (now: ${engineTrouble})`}`,
      ].join('\n'),
    );
    this.name = 'NoServer';
  }
}

/**
 * Finds each server: its address in the environment, a local binary, a container engine, the system's packages.
 * Throws NoServer.
 */
export async function chooseSources(names: ServerName[], env: NodeJS.ProcessEnv, machine: Machine): Promise<Sources> {
  const sources: Sources = {};
  const missing = () => names.filter((name) => sources[name] === undefined);
  const findBinaries = () => {
    for (const name of missing()) {
      const path = machine.findBinary(name);
      if (path !== undefined) sources[name] = { from: 'binary', path };
    }
  };
  for (const name of names) {
    const url = env[SERVERS[name]];
    if (url !== undefined && url !== '') sources[name] = { from: 'address', url };
  }
  findBinaries();
  if (missing().length === 0) return sources;
  const trouble = machine.engineTrouble();
  if (trouble === undefined) for (const name of missing()) sources[name] = { from: 'engine' };
  else if (await machine.install(missing())) findBinaries();
  if (missing().length > 0) throw new NoServer(missing(), trouble ?? '');
  return sources;
}
