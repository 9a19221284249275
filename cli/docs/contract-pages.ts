import { actions } from '@waybell/catalog/actions';
import { adminDocumentFiles, documentFiles } from '@waybell/contracts/document-files';
import { families } from '@waybell/contracts/families';
import { familyPage } from '@waybell/contracts/reference/family-page';
import { indexPage } from '@waybell/contracts/reference/index-page';
import { writeJson } from '@waybell/contracts/write-json';
import { makeSentExamples } from './sent-examples.ts';

/** Everything that is made from the catalog, by its path in the repository. */
export function contractPages(): Record<string, () => string | Promise<string>> {
  const sentExamples = makeSentExamples();
  const documents = documentFiles({ catalog: actions, interfaces: ['shipper', 'carrier'], sentExamples });
  return {
    // The API makes the same documents from these, without the router.
    'libs/contracts/sent-examples.json': () => writeJson(sentExamples),
    ...Object.fromEntries(
      Object.entries({ ...documents, ...adminDocumentFiles(actions) }).map(([path, text]) => [
        `docs/${path}`,
        () => text,
      ]),
    ),
    'docs/reference/README.md': indexPage,
    ...Object.fromEntries(
      families.map((family) => [`docs/reference/${family.name}.md`, () => familyPage(family, sentExamples)]),
    ),
  };
}
