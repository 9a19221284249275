import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** Finds a program that comes with Erlang: next to the broker, on the path, or next to its `erl`. */
export function findInErlang(program: 'epmd' | 'erl_call', broker: string): string | undefined {
  const folders = [dirname(broker), ...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  return folders
    .flatMap((folder) => [folder, ...besideErl(join(folder, 'erl'))])
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));
}

const besideErl = (erl: string): string[] => (existsSync(erl) ? [dirname(realpathSync(erl))] : []);
