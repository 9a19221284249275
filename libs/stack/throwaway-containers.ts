import type { StartedDockerComposeEnvironment } from 'testcontainers';

/**
 * The same containers for tests: testcontainers removes them and their data even when the test run is killed.
 * Its module is loaded only where it is needed, because it takes a second to load.
 */
export function throwawayContainers(options: {
  folder: string;
  file: string;
  project: string;
  names: string[];
  env: Record<string, string>;
}): { start(): Promise<void>; stop(): Promise<void> } {
  let running: StartedDockerComposeEnvironment | undefined;
  return {
    async start() {
      const { DockerComposeEnvironment } = await import('testcontainers');
      running = await new DockerComposeEnvironment(options.folder, options.file)
        .withProjectName(options.project)
        .withEnvironment(options.env)
        .up(options.names);
    },
    async stop() {
      await running?.down({ removeVolumes: true });
    },
  };
}
