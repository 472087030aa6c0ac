import { HEADERS } from './headers.ts';
import { PATHS } from './paths.ts';
import { type Json, SCHEMAS } from './schemas.ts';

const ABOUT = `Tracks and updates the stock levels of the pets in a store.

Every answer has the three X-RateLimit headers, and every error an Error body. HEAD is answered as GET without its body,
OPTIONS with 204 and Allow, any other method on a known path with 405 and Allow.`;

/** The contract of the service as an OpenAPI 3.1 document. @param baseUrl where it is served: `http://127.0.0.1:4010/v1` */
export function openApiDocument(baseUrl: string) {
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
    paths: PATHS,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
      },
      schemas: SCHEMAS,
      headers: HEADERS,
    },
  } satisfies Json;
}
