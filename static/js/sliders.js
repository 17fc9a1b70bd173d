// A slider says what it stands at, while it is moved.

for (const output of document.querySelectorAll(".sliders output[for]")) {
  const slider = document.getElementById(output.htmlFor.value);
  slider?.addEventListener("input", () => {
    output.value = `${Number(slider.value)} ${output.dataset.unit}`;
  });
}
