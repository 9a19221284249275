import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, normalize } from 'node:path';

/** A file of the repository that another depends on, by its path from the root, and how far away that makes it. */
type Edge = { to: string; distance: number };

/** A file that a test runs or reads is farther from it than an imported one: many tests run or read the same file. */
export const DISTANCE = { imported: 1, named: 10 };

/** Files that a glob may match and still name them. */
const MOST_MATCHED = 100;

/** Not one of types alone: a test cannot see those. */
const IMPORT =
  /(?:^(?:import|export)(?! type\b)[^;']*?\bfrom\s*|\bimport\s*\(?\s*)'(?<target>(?:\.{1,2}\/|@waybell\/)[^']+)'/gm;
/** Matches the source of an import, which is followed above where it counts. */
const FROM = /\bfrom\s*'[^']+'/g;
/** A function of the database, with its schema. */
const CREATED = /\bfunction \w+\.(\w+)\(/g;
const CALLED = /\w\.(\w+)\(/g;
/** A call that makes a path of several parts; `repository` is the root. */
const JOINED = /\bjoin\(([^()]*)\)/g;
const QUOTED = /'([^'\s]+)'|`([^`\s]+)`/g;

/** The dependencies between files: imports, and paths of programs that a file runs or files that it reads. */
export class ImportGraph {
  readonly #root: string;
  #files: readonly string[] | undefined;
  readonly #sources = new Map<string, string>();
  readonly #imported = new Map<string, string[]>();
  readonly #edges = new Map<string, Edge[]>();
  #functions: ReadonlyMap<string, string> | undefined;
  #folders: ReadonlyMap<string, string[]> | undefined;
  readonly #matches = new Map<string, string[]>();

  /** The files are those that git knows of or would add, asked for when they are needed, where none are given. */
  constructor(root: string, files?: readonly string[]) {
    this.#root = root;
    this.#files = files;
  }

  get #all(): readonly string[] {
    return (this.#files ??= filesOf(this.#root));
  }

  /** The text of the file; none where it is not there. */
  sourceOf(path: string): string {
    let source = this.#sources.get(path);
    if (source === undefined) {
      const file = join(this.#root, path);
      source = existsSync(file) ? readFileSync(file, 'utf8') : '';
      this.#sources.set(path, source);
    }
    return source;
  }

  /** Whether it is there and is more than a page, a picture, or types alone, which no test can see. */
  doesSomething(path: string): boolean {
    const source = this.sourceOf(path);
    if (/\.(?:md|svg|png|d\.ts)$/.test(path) || source === '') return false;
    return !isCode(path) || /^(?!import |export type|type |interface |export interface )[a-z]/m.test(source);
  }

  /** The file and everything that it imports, by whatever way. */
  importsOf(path: string): Set<string> {
    const seen = new Set([path]);
    for (const file of seen) for (const to of this.#importedBy(file)) seen.add(to);
    return seen;
  }

  /** Everything that the file depends on, and how far away it is; itself at 0. */
  reach(path: string): Map<string, number> {
    const reached = new Map<string, number>();
    // Files by how far away they are by some way: the nearest way is gone first.
    const away = [[path]];
    for (let distance = 0; distance < away.length; distance += 1)
      for (const file of away[distance] ?? []) {
        if (reached.has(file)) continue;
        reached.set(file, distance);
        for (const edge of this.#edgesOf(file)) (away[distance + edge.distance] ??= []).push(edge.to);
      }
    return reached;
  }

  #edgesOf(path: string): Edge[] {
    let edges = this.#edges.get(path);
    if (edges === undefined) {
      const imported = [...this.#importedBy(path), ...this.#calledBy(path)];
      const named = isCode(path) ? this.#namedBy(path).filter((to) => to !== path && !imported.includes(to)) : [];
      edges = [
        ...imported.map((to) => ({ to, distance: DISTANCE.imported })),
        ...named.map((to) => ({ to, distance: DISTANCE.named })),
      ];
      this.#edges.set(path, edges);
    }
    return edges;
  }

  #importedBy(path: string): string[] {
    let imported = this.#imported.get(path);
    if (imported === undefined) {
      const found = this.sourceOf(path).matchAll(IMPORT);
      imported = Array.from(found, ({ groups }) => this.#fileOf(path, groups?.['target'] ?? ''));
      this.#imported.set(path, imported);
    }
    return imported;
  }

  #fileOf(importer: string, target: string): string {
    const [, name, path] = /^@waybell\/([^/]+)\/(.+)$/.exec(target) ?? [];
    if (name === undefined) return normalize(join(dirname(importer), target));
    // The package of a service may be named otherwise than its folder.
    const folders = [
      `libs/${name}`,
      `packages/${name}`,
      `services/${name}`,
      `services/${name.replace(/-service$/, '')}`,
    ];
    const folder = [...folders, name].find((each) => existsSync(join(this.#root, each, 'package.json'))) ?? name;
    return `${folder}/${path}.ts`;
  }

  /** The files in which functions of the database are written that this one calls. */
  #calledBy(path: string): string[] {
    const functions = (this.#functions ??= new Map(
      this.#all
        .filter((file) => file.endsWith('.sql'))
        .flatMap((file) => [...this.sourceOf(file).matchAll(CREATED)].map(([, name = '']) => [name, file])),
    ));
    const called = [...this.sourceOf(path).matchAll(CALLED)].map(([, name = '']) => functions.get(name) ?? path);
    return [...new Set(called)].filter((file) => file !== path);
  }

  #namedBy(path: string): string[] {
    const source = this.sourceOf(path).replaceAll(FROM, '');
    const joined = [...source.matchAll(JOINED)].map(([, parts = '']) => patternOf(parts));
    const quoted = [...source.matchAll(QUOTED)].map(([, plain, template = '']) => plain ?? asPattern(template));
    const named = new Set(
      [...joined, ...quoted].filter((text) => /^[\w{.@][\w./*{},@-]*$/.test(text) && /\w/.test(text)),
    );
    return [...named].flatMap((text) => [...this.#matching(text), ...this.#matching(join(dirname(path), text))]);
  }

  /** The files that this names: a file, all below a folder, or what a glob matches. A word alone names no folder. */
  #matching(text: string): string[] {
    const pattern = normalize(text).replace(/\/$/, '');
    let found = this.#matches.get(pattern);
    if (found === undefined) {
      // A pattern that matches nearly everything names nothing: who reads all files sees what they do in none.
      const isVague = /^[.*]/.test(pattern) && !pattern.startsWith('.github');
      if (isVague) found = [];
      else if (/[*{]/.test(pattern)) {
        const [start = ''] = /^[^*{]*/.exec(pattern) ?? [];
        const matching = this.#all.filter((file) => file.startsWith(start) && matchesGlob(file, pattern));
        found = matching.length > MOST_MATCHED ? [] : matching;
      } else if (this.#all.includes(pattern)) found = [pattern];
      else found = pattern.includes('/') ? ((this.#folders ??= foldersOf(this.#all)).get(pattern) ?? []) : [];
      this.#matches.set(pattern, found);
    }
    return found;
  }
}

/** Every file that git has or would take, by its path from the root; also those that were deleted and still are in its index. */
function filesOf(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return listed.split('\0').filter((path) => path !== '');
}

/** Each folder, and all files below it. */
function foldersOf(files: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const file of files)
    for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
      const below = folders.get(folder) ?? [];
      below.push(file);
      folders.set(folder, below);
    }
  return folders;
}

const isCode = (path: string): boolean => /\.(?:ts|tsx|js|mjs)$/.test(path);

/** Converts arguments of `join` to a pattern: a part that is no text matches anything. */
function patternOf(parts: string): string {
  const [first = '', ...others] = parts.split(',').map((part) => part.trim());
  const from = /^'|^`/.test(first) ? [first, ...others] : others;
  return from
    .map((part) => /^['`](.*)['`]$/.exec(part)?.[1] ?? '*')
    .map(asPattern)
    .join('/');
}

const asPattern = (text: string): string => text.replaceAll(/\$\{[^}]*\}/g, '*');
