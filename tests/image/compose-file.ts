import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '@waybell/stack/stack-folder';
import { parse } from 'yaml';
import { goProgram } from '../testing/go-program.ts';

export type ComposeService = {
  image: string;
  command: string[];
  environment: Record<string, string>;
};

export type Compose = {
  services: Record<string, ComposeService>;
  configs: Record<string, { content: string }>;
};

/** The loader of docker compose. Later ones do not fill in variables when they run as a program of their own. */
const LOADER = 'github.com/compose-spec/compose-go/v2/cmd@v2.1.6';
const COMPOSE_FILE = 'docker-compose.yml';

/** A copy of docker-compose.yml in that folder, beside the .env that deploy/passwords.sh makes; resolves with what is in that. */
export function makePasswords(folder: string): Record<string, string> {
  mkdirSync(join(folder, 'deploy'), { recursive: true });
  for (const file of [COMPOSE_FILE, 'deploy/passwords.sh']) cpSync(join(repository, file), join(folder, file));
  execFileSync('sh', [join(folder, 'deploy/passwords.sh')]);
  const lines = readFileSync(join(folder, '.env'), 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)));
}

/** What `docker compose config` makes of docker-compose.yml. Rejects where that breaks the schema, or a variable is missing. */
export async function renderCompose(variables: Record<string, string>): Promise<Compose> {
  const loader = await goProgram(LOADER);
  const { stdout } = await promisify(execFile)(loader, [COMPOSE_FILE], { cwd: repository, env: variables });
  // The shape is the specification's, and the loader has checked it. A number is a text here, as in every environment.
  return parse(stdout, { schema: 'failsafe' }) as Compose;
}
