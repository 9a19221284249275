import type { Page } from 'playwright-core';
import { button, dialog } from './places.ts';

export const card = (page: Page, host: string) => page.getByRole('article', { name: host, exact: true });
export const hostField = (page: Page) => dialog(page).getByLabel(/^Host/);
export const rowOf = (page: Page, place: number) =>
  dialog(page).getByRole('group', { name: `Header ${place}`, exact: true });

export async function fillRow(page: Page, place: number, [name, value]: readonly [name: string, value: string]) {
  await rowOf(page, place).getByLabel('Name').fill(name);
  await rowOf(page, place).getByLabel('Value').fill(value);
}

export async function addHeader(page: Page, place: number, header: readonly [name: string, value: string]) {
  await button(page, 'Add headers').click();
  await fillRow(page, place, header);
}

export const send = async (page: Page, name: 'Add' | 'Replace') =>
  dialog(page).getByRole('button', { name, exact: true }).click();

/** The names of the fields that are marked as wrong, each with what it is described by. */
export async function marked(page: Page): Promise<(string | null)[]> {
  const wrong = dialog(page).locator('[aria-invalid=true]');
  for (const each of await wrong.all()) {
    const id = await each.getAttribute('aria-describedby');
    await dialog(page).locator(`[id="${id}"]`).filter({ hasText: /./ }).waitFor();
  }
  return wrong.evaluateAll((fields) => fields.map((each) => each.getAttribute('name')));
}
