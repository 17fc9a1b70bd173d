"""Two ways to use a page: with a mouse, and with the keyboard alone."""

from typing import Protocol

from playwright.sync_api import Locator, Page, expect

# More than any page has; reached only where something cannot be.
_MANY = 400


class Hands(Protocol):
    page: Page

    def press(self, target: Locator) -> None: ...
    def write(self, target: Locator, text: str) -> None: ...
    def choose(self, radio: Locator) -> None: ...


class Mouse:
    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, target: Locator) -> None:
        target.click()

    def write(self, target: Locator, text: str) -> None:
        target.fill(text)

    def choose(self, radio: Locator) -> None:
        radio.check()


class Keyboard:
    """Tab until it is there, then Enter: what cannot be reached so is an error."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, target: Locator) -> None:
        self._reach(target)
        self.page.keyboard.press("Enter")

    def write(self, target: Locator, text: str) -> None:
        self._reach(target)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def choose(self, radio: Locator) -> None:
        """Tab leads to the chosen one of a group, arrows to the others."""
        group = radio.get_attribute("name")
        self._reach(self.page.locator(f"input[name={group}]:checked"))
        for _ in range(_MANY):
            if radio.is_checked():
                return
            self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"The arrow keys do not lead to {radio}.")

    def _reach(self, target: Locator) -> None:
        expect(target).to_be_visible()
        wanted = target.element_handle()
        for _ in range(_MANY):
            if wanted.evaluate("(each) => each === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not lead to {target} on {self.page.url}.")
