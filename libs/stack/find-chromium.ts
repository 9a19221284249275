import { firstExecutable, foldersOnPath, isExecutable } from './first-executable.ts';
import { installPackages } from './install-packages.ts';

/** The variable that names the binary of a Chromium; tests of pages read it. */
export const CHROMIUM = 'WAYBELL_CHROMIUM';

/** Names of Chromium on the path: the first found is used. The one without windows takes two thirds of the CPU of the others. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
/** Packages that have one, tried in this order: not every release of Debian has the first. */
const PACKAGES = ['chromium-headless-shell', 'chromium'];

/** The properties of this machine that matter here. */
export type BrowserMachine = {
  isExecutable(file: string): boolean;
  findOnPath(name: string): string | undefined;
  /** Installs these packages; false where it may not or cannot. */
  install(packages: string[]): Promise<boolean>;
};

/** The machine that this process runs on. `report` gets the names of packages being installed. */
export const browserMachine = (report: (line: string) => void): BrowserMachine => ({
  isExecutable,
  findOnPath: (name) => firstExecutable(name, foldersOnPath()),
  install: (packages) => installPackages(packages, report),
});

/** No way to get a browser. The message names the ways. */
export class NoChromium extends Error {
  constructor(found: string) {
    super(
      [
        `${found}. Tests of pages need it. Do one of these, then try again:`,
        `  - install Chromium or Google Chrome (on Debian as root this happens by itself: package ${PACKAGES[0]})`,
        `  - name its binary in ${CHROMIUM}`,
      ].join('\n'),
    );
    this.name = 'NoChromium';
  }
}

/** The binary of a Chromium: what the environment names, one on the path, the system's package. Throws NoChromium. */
export async function findChromium(env: NodeJS.ProcessEnv, machine: BrowserMachine): Promise<string> {
  const named = env[CHROMIUM];
  if (named !== undefined && named !== '') {
    if (machine.isExecutable(named)) return named;
    throw new NoChromium(`${CHROMIUM} names ${named}, which is no program`);
  }
  const look = () => NAMES.map((name) => machine.findOnPath(name)).find((path) => path !== undefined);
  let found = look();
  for (const name of PACKAGES) if (found === undefined && (await machine.install([name]))) found = look();
  if (found === undefined) throw new NoChromium(`found no ${NAMES.join(', no ')} on this machine`);
  return found;
}
