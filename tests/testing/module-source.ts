import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The folder with the sources of a Go module, by the proxy that the machine has. Rejects where there is no Go. */
export async function moduleSource(module: string, version: string): Promise<string> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', `${module}@${version}`]);
  return String(JSON.parse(stdout).Dir);
}
