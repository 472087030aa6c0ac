/** conf names these for a schema, which it is not given here. */
export class Ajv2020 {}
export default () => {};
