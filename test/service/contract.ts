import { Ajv2020 } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/service/index.ts';
import type { Answer } from './support.ts';

/** Headers of HTTP itself, which an OpenAPI document does not describe. */
export const ofHttp = [
  'date',
  'connection',
  'keep-alive',
  'content-type',
  'content-length',
  'transfer-encoding',
  'allow',
];

type Named<Value> = Readonly<Record<string, Value>>;
interface Response {
  readonly headers: Named<{ readonly $ref: string }>;
  readonly content: Named<object>;
}
interface Document {
  readonly paths: Named<Named<{ readonly responses: Named<Response> }>>;
  readonly components: {
    readonly headers: Named<{ readonly required?: boolean; readonly schema: object }>;
    readonly schemas: object;
  };
}

const document = openApiDocument('http://127.0.0.1/v1') as unknown as Document;
const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, formats: { int64: true, uuid: true } });
ajv.addVocabulary(Object.keys(document)).addSchema(document, 'api');
// Also compiles the schemas of requests, which fails if one has an unknown keyword.
for (const name of Object.keys(document.components.schemas)) ajv.getSchema(`api#/components/schemas/${name}`);

/** Returns how the headers and body of a response violate the OpenAPI document; '' if they don't. */
export function breach(method: string, url: string, { status, headers, text }: Omit<Answer, 'json'>): string {
  const path = url.replace(/\/\d+$/, '/{petId}');
  const responses = document.paths[path]?.[method.toLowerCase()]?.responses;
  const code = responses?.[status] === undefined ? 'default' : `${status}`;
  const declared = Object.entries(responses?.[code]?.headers ?? {});
  const components = document.components.headers;
  const required = declared.filter(([, { $ref }]) => components[$ref.split('/').at(-1) ?? '']?.required === true);
  const response = ['api#', 'paths', path, method.toLowerCase(), 'responses', code]
    .map((part) => part.replaceAll('/', '~1'))
    .join('/');
  const schema = {
    properties: {
      headers: {
        properties: Object.fromEntries(
          declared.map(([name, { $ref }]) => [name.toLowerCase(), { $ref: `api${$ref}/schema` }]),
        ),
        required: required.map(([name]) => name.toLowerCase()),
        propertyNames: { enum: [...declared.map(([name]) => name.toLowerCase()), ...ofHttp] },
      },
      body: { $ref: `${response}/content/application~1json/schema` },
    },
  };
  const answer = { headers: Object.fromEntries(Object.entries(headers).map(coerced)), body: JSON.parse(text) };
  return ajv.validate(schema, answer) ? '' : ajv.errorsText();
}

/** Converts the value of a header to an integer if it has only digits. */
function coerced([name, value]: readonly [string, Answer['headers'][string]]) {
  return [name, typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value] as const;
}
