/** The notebook's widget (anywidget). */

export default {
  render(): void {},
};
