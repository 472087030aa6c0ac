import { HEADERS } from './headers.ts';
import { pathsWith } from './paths.ts';
import { type Example, FIRST_PET, type Json, schemasWith } from './schemas.ts';

const ABOUT = `Tracks and updates the stock levels of the pets in a store.

Every answer has the three X-RateLimit headers, and every error an Error body. HEAD is answered as GET without its body,
OPTIONS with 204 and Allow, any other method on a known path with 405 and Allow.`;

/**
 * The contract of the service as an OpenAPI 3.1 document.
 * @param baseUrl where it is served: `http://127.0.0.1:4010/v1`
 * @param pet one that is there, for the examples: by default the first of the default stock
 */
export function openApiDocument(baseUrl: string, pet: Example = FIRST_PET) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet Store Inventory Service',
      version: '1.0.0',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: [
      { name: 'inventory', description: 'Stock levels.' },
      { name: 'pets', description: 'Records of pets.' },
      { name: 'store', description: 'Orders.' },
    ],
    security: [{ apiKey: [] }],
    paths: pathsWith(pet),
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
      },
      schemas: schemasWith(pet),
      headers: HEADERS,
    },
  } satisfies Json;
}
