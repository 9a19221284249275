import { execFileSync } from 'node:child_process';
import { repository } from '@waybell/stack/stack-folder';

/** Makes that folder what git would clone of this checkout, with what is not committed yet. */
export function copyCheckout(folder: string): void {
  const listing = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listing, { cwd: repository });
  const copy = 'mkdir "$1" && tar -c --null --files-from - --ignore-failed-read | tar -C "$1" -x';
  execFileSync('sh', ['-c', copy, 'sh', folder], {
    cwd: repository,
    input: files,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}
