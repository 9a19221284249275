import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '@waybell/stack/stack-folder';

type Command = [string, ...string[]];
export type Example = { publish: Command; receive: Command };

const run = promisify(execFile);

/** How each is built as its page says, in `folder`, by the tools of its language on the path. */
const builders: Record<string, (folder: string) => Promise<Example>> = {
  async python(folder) {
    const python = join(folder, 'venv/bin/python');
    await run('python3', ['-m', 'venv', join(folder, 'venv')]);
    await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', 'requirements.txt'], { cwd: folder });
    return { publish: [python, join(folder, 'publish.py')], receive: [python, join(folder, 'receive.py')] };
  },
  async go(folder) {
    await run('go', ['build', '-o', 'bin/', './...'], { cwd: folder });
    return { publish: [join(folder, 'bin/publish')], receive: [join(folder, 'bin/receive')] };
  },
  async java(folder) {
    await run('mvn', ['--quiet', '--batch-mode', 'compile', 'dependency:copy-dependencies'], { cwd: folder });
    const java: Command = ['java', '-cp', `${folder}/target/classes:${folder}/target/dependency/*`];
    return { publish: [...java, 'Publish'], receive: [...java, 'Receive'] };
  },
};

export const languages: readonly string[] = Object.keys(builders);

/** Builds the example of a language from a copy. Rejects where its tools are not there, with what they said. */
export async function buildExample(language: string, home: string): Promise<Example> {
  const folder = join(home, language);
  await cp(join(repository, 'examples', language), folder, { recursive: true });
  const build = builders[language];
  if (build === undefined) throw new Error(`no example is in ${language}`);
  return build(folder);
}
