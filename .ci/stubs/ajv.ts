/** conf imports these names to check a schema, but gets none here. */
export class Ajv2020 {}
export default () => {};
