import { CONTAINER_LABEL } from '@waybell/stack/docker';

/**
 * Has testcontainers remove the containers and volumes of this process when it is gone, however it ends. Resolves with the
 * variable by which this process, and those that it starts, label them.
 */
export async function reapContainers(): Promise<Record<string, string>> {
  // Takes a second to load.
  const { getContainerRuntimeClient, getReaper, LABEL_TESTCONTAINERS_SESSION_ID } = await import('testcontainers');
  const { sessionId } = await getReaper(await getContainerRuntimeClient());
  const label = `${LABEL_TESTCONTAINERS_SESSION_ID}=${sessionId}`;
  process.env[CONTAINER_LABEL] = label;
  return { [CONTAINER_LABEL]: label };
}
