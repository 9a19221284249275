import { Command } from 'commander';
import { runPnpm, toolchainComponents } from '../dependencies.ts';

// Installs like deploy/Dockerfile: the packages that run, and none that only build or test.
const SHIPPED = ['--filter', '@waybell/cli...', '--filter', './services/*...'];
/** Its files hold parts of these, and what builds them is among them. */
const BUILT = ['--filter', '@waybell/console'];
const CYCLONEDX = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];

type Bill = { components: { purl?: string }[] };

export function sbomCommand(): Command {
  return new Command('sbom')
    .description(
      'print what an image is made of, and built with: every package with version, licence and hash, as CycloneDX JSON',
    )
    .addHelpText('after', '\nExample:\n  ./waybell sbom >waybell.cdx.json\n')
    .action(sbom);
}

async function sbom(): Promise<void> {
  const [document, page] = await Promise.all([bill(...SHIPPED, ...CYCLONEDX, '--prod'), bill(...BUILT, ...CYCLONEDX)]);
  const shipped = new Set(document.components.map(({ purl }) => purl));
  document.components.push(...page.components.filter(({ purl }) => !shipped.has(purl)), ...toolchainComponents());
  // The process ends after its command, and a pipe takes no more than its reader does.
  await new Promise((resolve) => {
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`, resolve);
  });
}

async function bill(...args: string[]): Promise<Bill> {
  const { code, stdout, stderr } = await runPnpm(args);
  if (code !== 0) throw new Error(`pnpm could not say: ${stderr.trim()}`);
  // Its shape is CycloneDX'.
  return JSON.parse(stdout) as Bill;
}
